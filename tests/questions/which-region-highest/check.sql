SELECT arg_max(region, total) AS region, max(total) AS revenue, 1 AS rank
FROM (SELECT region, sum(revenue) AS total FROM read_csv('examples/sales.csv') GROUP BY region)
