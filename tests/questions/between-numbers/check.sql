SELECT sum(CASE WHEN units < 100 OR units > 200 THEN 0 ELSE revenue END) AS revenue
FROM read_csv('examples/sales.csv')
