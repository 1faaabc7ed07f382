SELECT region, avg(revenue - cost) AS "average profit"
FROM read_csv('examples/sales.csv')
GROUP BY region
