-- Row-level security for feedback. Workers delete it with the runs of all tenants.
alter table feedback enable row level security;
alter table feedback force row level security;
create policy of_tenant on feedback using (tenant = (select groundplan_tenant()) or (select groundplan_tenant()) = '*');
grant select, insert, update, delete on feedback to groundplan;
alter table regressions enable row level security;
alter table regressions force row level security;
create policy of_tenant on regressions using (tenant = (select groundplan_tenant()));
grant select, insert, update, delete on regressions to groundplan;
