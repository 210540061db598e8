-- What the numbers above cannot tell: notes of the runs, by name.
select name, severity, count(distinct run_id) as runs, any_value(sentence) as example
from quality
group by name, severity
order by severity = 'ERROR' desc, severity = 'WARNING' desc, runs desc, name
