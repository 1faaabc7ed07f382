SELECT 2000 * place || ' to ' || 2000 * (place + 1) AS bin, 2000.0 * place AS bin_start, 2000.0 * (place + 1) AS bin_end,
    count(*) AS count, count(*) / sum(count(*)) OVER () AS share
FROM (SELECT CAST(floor(revenue / 2000) AS INTEGER) AS place FROM read_csv('examples/sales.csv'))
GROUP BY place
