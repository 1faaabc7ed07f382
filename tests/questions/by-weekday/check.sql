SELECT dayname(date) AS weekday, sum(revenue) AS revenue, isodow(date) AS "lowest weekday"
FROM read_csv('examples/sales.csv')
GROUP BY ALL
ORDER BY "lowest weekday"
