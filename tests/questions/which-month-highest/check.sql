SELECT arg_max(month, total) AS date, max(total) AS revenue, 1 AS rank
FROM (SELECT left(CAST(date AS VARCHAR), 7) || '-01' AS month, sum(revenue) AS total FROM read_csv('examples/sales.csv') GROUP BY 1)
