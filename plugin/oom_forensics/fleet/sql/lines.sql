-- The lines of the users' programs whose requests are refused most often.
select
  request.source.line.file as file,
  request.source.line.line as line,
  any_value(request.source.line.function) as function,
  any_value(request.source.line.text) as text,
  count(*) as incidents,
  count(distinct job) as jobs,
  median(request.requested_bytes)::bigint as median_request_bytes
from incidents
where request.source.line.line > 0
group by file, line
order by incidents desc, file, line
limit 50
