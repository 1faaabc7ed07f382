SELECT region, sum(units) AS units, row_number() OVER (ORDER BY sum(units)) AS rank
FROM read_csv('examples/sales.csv')
GROUP BY region
ORDER BY units
LIMIT 2
