SELECT 'units' AS column, count(units) AS count, count(*) - count(units) AS missing, count(DISTINCT units) AS distinct, avg(units) AS mean,
    stddev_samp(units) AS std, min(units) AS min, quantile_cont(units, 0.25) AS q25, quantile_cont(units, 0.5) AS median,
    quantile_cont(units, 0.75) AS q75, max(units) AS max
FROM read_csv('examples/sales.csv')
UNION ALL
SELECT 'revenue' AS column, count(revenue) AS count, count(*) - count(revenue) AS missing, count(DISTINCT revenue) AS distinct, avg(revenue) AS mean,
    stddev_samp(revenue) AS std, min(revenue) AS min, quantile_cont(revenue, 0.25) AS q25, quantile_cont(revenue, 0.5) AS median,
    quantile_cont(revenue, 0.75) AS q75, max(revenue) AS max
FROM read_csv('examples/sales.csv')
UNION ALL
SELECT 'cost' AS column, count(cost) AS count, count(*) - count(cost) AS missing, count(DISTINCT cost) AS distinct, avg(cost) AS mean,
    stddev_samp(cost) AS std, min(cost) AS min, quantile_cont(cost, 0.25) AS q25, quantile_cont(cost, 0.5) AS median,
    quantile_cont(cost, 0.75) AS q75, max(cost) AS max
FROM read_csv('examples/sales.csv')
