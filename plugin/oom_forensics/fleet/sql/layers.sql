-- The layers whose requests are refused most often. What has no name scope is told by its op.
select
  coalesce(nullif(request.scope, ''), '(no scope)') as layer,
  count(*) as incidents,
  count(distinct job) as jobs,
  median(request.requested_bytes)::bigint as median_request_bytes,
  mode(verdict.kind) as verdict
from incidents
group by layer
order by incidents desc, layer
limit 50
