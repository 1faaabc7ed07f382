SELECT dayname(date) AS weekday, sum(revenue) AS revenue
FROM read_csv('examples/sales.csv')
GROUP BY dayname(date), isodow(date)
ORDER BY isodow(date)
