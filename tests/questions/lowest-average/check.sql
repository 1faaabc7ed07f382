SELECT arg_min(product_category, mean) AS product_category, min(mean) AS "average cost", 1 AS rank
FROM (SELECT product_category, avg(cost) AS mean FROM read_csv('examples/sales.csv') GROUP BY product_category)
