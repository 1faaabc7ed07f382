-- Runs that ended as partial are deleted after a while, as others are.
drop index runs_ended;
create index runs_ended on runs (updated) where state in ('succeeded', 'partial', 'refused', 'failed', 'cancelled');
