-- Incidents by day and verdict. An incident is one out-of-memory and what fell with it.
select day, coalesce(verdict.kind, 'UNKNOWN') as verdict, count(*) as incidents
from incidents
group by all
order by day, incidents desc, verdict
