-- What a key may do, and who did what.
alter table keys add column role text not null default 'ask';
create table audit (
    tenant text not null, at double precision not null, actor text not null, action text not null, about text not null
);
create index audit_by_time on audit (tenant, at);
create index runs_not_ended on runs (tenant, state)
    where state in ('queued', 'running', 'waiting_approval', 'waiting_answer');
create index runs_ended on runs (updated) where state in ('succeeded', 'refused', 'failed', 'cancelled');
