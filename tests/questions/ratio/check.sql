SELECT region, sum(cost) / sum(units) AS "cost per units", sum(cost) AS cost, sum(units) AS units
FROM read_csv('examples/sales.csv')
GROUP BY region
