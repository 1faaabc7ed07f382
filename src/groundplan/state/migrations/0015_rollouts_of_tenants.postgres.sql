-- Row-level security for rollouts. Workers take what is due of any tenant.
do $$ declare named text;
begin
    foreach named in array array['rollouts', 'rollout_questions'] loop
        execute format('alter table %I enable row level security', named);
        execute format('alter table %I force row level security', named);
        execute format('create policy of_tenant on %I using (tenant = (select groundplan_tenant()) or (select groundplan_tenant()) = ''*'')', named);
        execute format('grant select, insert, update, delete on %I to groundplan', named);
    end loop;
end $$;
