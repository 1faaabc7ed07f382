SELECT DISTINCT region, sum(revenue) OVER (PARTITION BY region) AS revenue,
    sum(revenue) OVER (PARTITION BY region) / sum(revenue) OVER () AS share
FROM read_csv('examples/sales.csv')
