SELECT region, product_category, sum(revenue) AS revenue
FROM read_csv('examples/sales.csv')
GROUP BY ALL
