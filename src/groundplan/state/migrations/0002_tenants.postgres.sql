-- Row-level security: a connection sees the rows of the tenant that its transaction names. No name is an error.
-- '*' is for workers, which take the next run of any tenant, and for finding the tenant of a key.
alter table plans add column number bigint generated always as identity;
alter table effects alter column key type text collate "C";  -- keys are searched by prefix

create function groundplan_tenant() returns text language plpgsql stable as $$
declare named text := current_setting('groundplan.tenant', true);
begin
    if coalesce(named, '') = '' then
        raise exception 'no tenant is named in this transaction';
    end if;
    return named;
end $$;

do $$ begin
    create role groundplan nologin;
exception when duplicate_object or unique_violation then null;
end $$;
do $$ begin
    execute format('grant groundplan to %I', current_user);
    execute format('grant usage on schema %I to groundplan', current_schema());
end $$;

do $$ declare named text;
begin
    foreach named in array array['plans', 'effects', 'runs', 'events', 'keys'] loop
        execute format('alter table %I enable row level security', named);
        execute format('alter table %I force row level security', named);
        execute format('create policy of_tenant on %I using (tenant = (select groundplan_tenant()) or (select groundplan_tenant()) = ''*'')', named);
        execute format('grant select, insert, update, delete on %I to groundplan', named);
    end loop;
    foreach named in array array['checkpoints', 'checkpoint_blobs', 'checkpoint_writes'] loop
        execute format('alter table %I enable row level security', named);
        execute format('alter table %I force row level security', named);
        execute format('create policy of_tenant on %I using (split_part(thread_id, ''/'', 1) = (select groundplan_tenant()))', named);
        execute format('grant select, insert, update, delete on %I to groundplan', named);
    end loop;
    grant select on migrations to groundplan;
end $$;
