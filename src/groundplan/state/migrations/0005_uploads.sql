-- Files that people uploaded, in pieces, so that every process can read them.
create table uploads (
    tenant text not null, id text not null, name text not null, bytes bigint not null, hash text not null,
    tables text not null, created double precision not null, primary key (tenant, id)
);
create unique index uploads_by_name on uploads (tenant, name);
create table upload_pieces (
    tenant text not null, upload text not null, number integer not null, content bytea not null,
    primary key (tenant, upload, number)
);
