-- The newest incidents, each with its likeliest remedy and the run that has its story.
select
  i.time_ns,
  i.job,
  r.name as run,
  r.url,
  i.verdict.kind as verdict,
  i.verdict.sentence as sentence,
  coalesce(nullif(i.request.op_name, ''), nullif(i.request.who, ''), '(no op)') as op,
  i.request.requested_bytes,
  i.in_use_bytes,
  i.limit_bytes,
  i.largest_free_bytes,
  i.remedies[1].title as remedy,
  i.remedies[1].sufficiency as sufficiency
from incidents i
join runs r using (run_id)
order by i.time_ns desc, i.job, i.index
limit 500
