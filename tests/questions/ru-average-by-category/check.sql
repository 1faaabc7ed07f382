SELECT product_category, sum(revenue) / count(*) AS "среднее revenue"
FROM read_csv('examples/sales.csv')
GROUP BY product_category
