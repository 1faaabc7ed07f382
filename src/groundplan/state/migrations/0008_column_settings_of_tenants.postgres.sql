-- Row-level security for the settings of columns.
alter table column_settings enable row level security;
alter table column_settings force row level security;
create policy of_tenant on column_settings using (tenant = (select groundplan_tenant()));
grant select, insert, delete on column_settings to groundplan;
