-- Runs that could not be converted, by what was wrong with them.
select
  regexp_replace(sentence, '(/|[0-9])\S*', '…', 'g') as kind,
  count(*) as runs,
  any_value(sentence) as example,
  any_value(url) as url,
  mode(exit_code) as exit_code
from errors
group by kind
order by runs desc, kind
limit 50
