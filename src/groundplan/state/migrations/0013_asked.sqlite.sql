-- The last questions asked outside the service, so that people can say whether the answers were good.
create table asked (
    tenant text not null, run text not null, at double precision not null, question text not null, today text not null,
    reading text, plan text, primary key (tenant, run)
);
