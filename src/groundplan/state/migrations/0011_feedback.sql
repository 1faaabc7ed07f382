-- What people say about answers, and the questions whose right reading a person has found.
create table feedback (
    tenant text not null, run text not null, thumb text not null, reason text not null, actor text not null,
    at double precision not null, question text, today text, reading text, plan text,
    reviewed integer not null default 0, primary key (tenant, run)
);
create table regressions (
    tenant text not null, run text not null, question text not null, today text not null, reading text not null,
    at double precision not null, primary key (tenant, run)
);
