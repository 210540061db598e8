-- Jobs that did not die in their newest run but came within a tenth of their limit.
with newest as (
  select job, max_by(run_id, (modified_ns, run_id)) as run_id, count(*) as runs
  from runs
  group by job
)
select
  newest.job,
  newest.runs,
  a.allocator,
  a.closeness,
  a.peak_in_use_bytes,
  a.limit_bytes,
  r.url
from newest
join allocators a using (run_id)
join runs r using (run_id)
where a.closeness >= 0.9 and a.oom_count = 0
order by a.closeness desc, newest.job
limit 200
