-- The role of the service adds entries, and changes none.
alter table audit enable row level security;
alter table audit force row level security;
create policy of_tenant on audit using (tenant = (select groundplan_tenant()) or (select groundplan_tenant()) = '*');
grant select, insert on audit to groundplan;
