-- The kinds of op whose requests are refused most often.
select
  coalesce(nullif(request.op_type, ''), nullif(request.who, ''), '(no op)') as op,
  count(*) as incidents,
  count(distinct job) as jobs,
  median(request.requested_bytes)::bigint as median_request_bytes,
  mode(verdict.kind) as verdict
from incidents
group by op
order by incidents desc, op
limit 50
