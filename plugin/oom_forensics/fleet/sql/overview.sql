-- How much was looked at, and how much of it died.
select
  (select count(*) from runs) as runs,
  (select count(distinct job) from runs) as jobs,
  (select count(*) from incidents) as incidents,
  (select count(distinct job) from incidents) as jobs_out_of_memory,
  (select count(*) from errors) as errors,
  (select coalesce(sum(file_bytes), 0) from runs)::bigint as file_bytes,
  (select min(day) from runs) as first_day,
  (select max(day) from runs) as last_day
