-- Who is signed in in a browser. Only a service for many people has sessions, so SQLite has no such table.
create table sessions (
    hash text primary key, tenant text not null, role text not null, actor text not null, name text not null,
    expires double precision not null
);
create index sessions_by_end on sessions (expires);
alter table sessions enable row level security;
alter table sessions force row level security;
create policy of_tenant on sessions using (tenant = (select groundplan_tenant()) or (select groundplan_tenant()) = '*');
grant select, insert, delete on sessions to groundplan;
