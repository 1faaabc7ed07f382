-- Row-level security for uploads. Their content is stored as it is: most of it cannot be compressed further.
alter table upload_pieces alter column content set storage external;
do $$ declare named text;
begin
    foreach named in array array['uploads', 'upload_pieces'] loop
        execute format('alter table %I enable row level security', named);
        execute format('alter table %I force row level security', named);
        execute format('create policy of_tenant on %I using (tenant = (select groundplan_tenant()))', named);
        execute format('grant select, insert, delete on %I to groundplan', named);
    end loop;
end $$;
