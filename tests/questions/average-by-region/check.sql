SELECT region, sum(units) / count(units) AS "average units"
FROM read_csv('examples/sales.csv')
GROUP BY region
