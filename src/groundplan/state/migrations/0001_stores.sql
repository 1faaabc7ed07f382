-- Plans, effects, runs with their events, and API keys. Both engines run this file.
create table if not exists plans (
    tenant text not null, key text not null, id text not null, question text not null, reading text not null,
    plan text not null, fingerprint text not null, marked integer not null default 0, primary key (tenant, key)
);
create table if not exists effects (
    tenant text not null, key text not null, at text default current_timestamp, outcome text,
    primary key (tenant, key)
);
create table if not exists runs (
    tenant text not null, id text not null, state text not null, attempt integer not null default 0,
    tries integer not null default 0, lease double precision not null default 0, cancel integer not null default 0, thread text, key text,
    request text not null, reply text, waiting text, outcome text, problem text,
    created double precision not null, updated double precision not null, primary key (tenant, id)
);
create unique index if not exists runs_by_key on runs (tenant, key);
create unique index if not exists runs_of_thread on runs (tenant, thread)
    where state in ('queued', 'running', 'waiting_approval', 'waiting_answer');
create index if not exists runs_to_do on runs (id) where state in ('queued', 'running');
create table if not exists events (
    tenant text not null, run text not null, number integer not null, kind text not null, data text not null,
    at double precision not null, primary key (tenant, run, number)
);
create table if not exists keys (
    hash text primary key, tenant text not null, name text not null, created double precision not null
);
