SELECT sum(yearly) AS revenue
FROM (SELECT sum(revenue) AS yearly FROM read_csv('examples/sales.csv') GROUP BY year(date))
