-- What people said about columns in the browser.
create table column_settings (
    tenant text not null, of_table text not null, of_column text not null, settings text not null,
    primary key (tenant, of_table, of_column)
);
