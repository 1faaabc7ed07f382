-- Variants on trial, what is kept of each question meanwhile, and which side a run was answered by.
create table rollouts (
    tenant text not null, id text not null, state text not null, about text not null, primary key (tenant, id)
);
create unique index rollouts_running on rollouts (tenant) where state = 'running';
create table rollout_questions (
    tenant text not null, rollout text not null, run text not null, side text not null, at double precision not null,
    due double precision, tries integer not null default 0, tokens bigint not null default 0,
    seconds double precision not null default 0, about text, primary key (tenant, rollout, run, side)
);
create index rollout_questions_due on rollout_questions (due) where due is not null;
create index rollout_questions_by_run on rollout_questions (tenant, run);
alter table runs add column rollout text;
