-- What each job's pools may take, what they took, and what of it no tensor ever used: the most of
-- all runs of the job. `would_do_bytes` is the highest use and a fifth more; a job that ran out
-- of memory needs more than it had.
with pools as (
  select
    job,
    count(distinct run_id) as runs,
    max(limit_bytes) as limit_bytes,
    max(peak_reserved_bytes) as peak_reserved_bytes,
    max(peak_in_use_bytes) as peak_in_use_bytes
  from allocators
  where limit_bytes > 0
  group by job
),
died as (select job, count(*) as incidents from incidents group by job)
select
  job,
  runs,
  limit_bytes,
  peak_reserved_bytes,
  peak_in_use_bytes,
  greatest(peak_reserved_bytes - peak_in_use_bytes, 0) as never_used_bytes,
  (peak_in_use_bytes + peak_in_use_bytes // 5) as would_do_bytes,
  coalesce(incidents, 0) as incidents
from pools
left join died using (job)
order by coalesce(incidents, 0) > 0, limit_bytes - peak_in_use_bytes desc, job
limit 200
