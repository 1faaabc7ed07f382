SELECT * REPLACE (CAST(date AS VARCHAR) AS date)
FROM read_csv('examples/sales.csv')
WHERE channel = 'online' AND NOT units >= 8
