SELECT product_category, sum(revenue) / count(*) AS "average revenue"
FROM read_csv('examples/sales.csv')
GROUP BY product_category
