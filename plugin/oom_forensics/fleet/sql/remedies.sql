-- What one change would do: in how many incidents it is offered, how sure it is, what it saves.
select
  remedy.kind as remedy,
  any_value(remedy.title) as example,
  count(*) as incidents,
  count(*) filter (remedy.sufficiency = 'ENOUGH_ALONE') as enough_alone,
  count(*) filter (remedy.sufficiency = 'REQUEST_FITS') as request_fits,
  median(remedy.bytes)::bigint as median_bytes
from (select unnest(remedies) as remedy from incidents)
group by remedy.kind
order by enough_alone desc, incidents desc, remedy
