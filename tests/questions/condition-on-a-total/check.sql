SELECT region, sum(revenue) AS revenue
FROM read_csv('examples/sales.csv')
GROUP BY region
HAVING sum(revenue) > 15000000
