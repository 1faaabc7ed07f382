-- Common idioms of analysts over the made-up tables: each gives its own rows or is refused.
WITH tot AS (SELECT SUM(fare) AS t FROM trips) SELECT state, SUM(fare) * 100.0 / tot.t AS pct FROM trips CROSS JOIN
tot GROUP BY state, tot.t;
WITH a AS (SELECT SUM(fare) AS s FROM trips WHERE started < '2024-06-01'), b AS (SELECT SUM(fare) AS s FROM trips
WHERE started >= '2024-06-01') SELECT a.s, b.s, b.s - a.s AS d FROM a, b;
WITH a AS (SELECT state, SUM(fare) AS s FROM trips WHERE started < '2024-06-01' GROUP BY state), b AS (SELECT state,
SUM(fare) AS s FROM trips WHERE started >= '2024-06-01' GROUP BY state) SELECT a.state, a.s AS before, b.s AS after,
b.s - a.s AS diff FROM a JOIN b ON a.state = b.state ORDER BY diff DESC;
WITH a AS (SELECT state, COUNT(*) AS n FROM trips GROUP BY state), b AS (SELECT state, COUNT(*) AS n FROM trips WHERE
fare > 20 GROUP BY state) SELECT a.state, COALESCE(b.n, 0) * 1.0 / a.n AS share FROM a LEFT JOIN b ON a.state =
b.state WHERE a.state IS NOT NULL;
WITH top AS (SELECT client_id, SUM(fare) AS s FROM trips WHERE client_id IS NOT NULL GROUP BY client_id ORDER BY s
DESC LIMIT 5) SELECT c.full_name, top.s FROM top JOIN clients c ON c.client_id = top.client_id ORDER BY top.s DESC;
SELECT c.full_name, t.n FROM clients c JOIN (SELECT client_id, COUNT(*) AS n FROM trips GROUP BY client_id) t ON
t.client_id = c.client_id WHERE t.n > 5;
SELECT c.full_name, (SELECT COUNT(*) FROM trips t WHERE t.client_id = c.client_id) AS n FROM clients c;
SELECT c.full_name, (SELECT SUM(t.fare) FROM trips t WHERE t.client_id = c.client_id AND t.state = 'paid') AS n FROM
clients c ORDER BY n DESC LIMIT 3;
SELECT COUNT(*) FROM clients c WHERE (SELECT COUNT(*) FROM trips t WHERE t.client_id = c.client_id) > 5;
SELECT trip_id, fare FROM trips t WHERE fare > (SELECT AVG(fare) FROM trips t2 WHERE t2.client_id = t.client_id);
SELECT COUNT(*) AS n FROM trips t WHERE fare > (SELECT AVG(x.fare) FROM trips x WHERE x.state = t.state);
SELECT trip_id, fare - AVG(fare) OVER (PARTITION BY state) AS d FROM trips WHERE state IS NOT NULL;
SELECT trip_id, fare, SUM(fare) OVER (PARTITION BY client_id) AS total FROM trips;
SELECT COUNT(*) FROM (SELECT trip_id, fare, AVG(fare) OVER (PARTITION BY state) AS a FROM trips) WHERE fare > a;
SELECT state, BOOL_OR(shared) AS any_shared FROM trips GROUP BY state;
SELECT client_id FROM trips GROUP BY client_id HAVING BOOL_AND(fare > 5);
SELECT c.full_name, COUNT(t.trip_id) AS n FROM depots d LEFT JOIN clients c ON c.depot_id = d.depot_id LEFT JOIN trips
t ON t.client_id = c.client_id GROUP BY c.full_name;
SELECT d.region, d.depot_id, COUNT(t.trip_id) AS n, SUM(t.fare) AS s FROM depots d LEFT JOIN clients c ON c.depot_id =
d.depot_id LEFT JOIN trips t ON t.client_id = c.client_id GROUP BY d.region, d.depot_id;
SELECT d.depot_id, COUNT(DISTINCT c.client_id) AS cs, COUNT(t.trip_id) AS n FROM depots d LEFT JOIN clients c ON
c.depot_id = d.depot_id LEFT JOIN trips t ON t.client_id = c.client_id GROUP BY d.depot_id;
SELECT LOWER(state) AS s, COUNT(*) AS n FROM trips GROUP BY LOWER(state);
SELECT TRIM(LOWER(state)) AS s, COUNT(*) AS n FROM trips GROUP BY 1;
SELECT COUNT(*) FROM trips WHERE LOWER(TRIM(state)) = 'open';
SELECT UPPER(full_name) AS n FROM clients;
SELECT client_id, started, started - LAG(started) OVER (PARTITION BY client_id ORDER BY started) AS gap FROM trips
WHERE client_id IS NOT NULL;
SELECT AVG(gap) FROM (SELECT DATE_DIFF('day', LAG(started) OVER (PARTITION BY client_id ORDER BY started), started) AS
gap FROM trips);
SELECT trip_id, fare - LAG(fare) OVER (ORDER BY trip_id) AS d FROM trips;
SELECT client_id, COUNT(*) AS n FROM trips GROUP BY client_id HAVING COUNT(*) > (SELECT AVG(n) FROM (SELECT client_id,
COUNT(*) AS n FROM trips GROUP BY client_id));
SELECT AVG(n) FROM (SELECT c.client_id, COUNT(t.trip_id) AS n FROM clients c LEFT JOIN trips t ON t.client_id =
c.client_id GROUP BY c.client_id);
SELECT COUNT(*) FROM clients WHERE client_id IN (SELECT client_id FROM trips GROUP BY client_id HAVING COUNT(*) > 5);
SELECT full_name FROM clients c WHERE NOT EXISTS (SELECT 1 FROM trips t WHERE t.client_id = c.client_id AND t.state =
'paid');
SELECT kind, COUNT(*) AS n, ROUND(100.0 * COUNT(*) / SUM(COUNT(*)) OVER (), 1) AS pct FROM clients GROUP BY kind ORDER
BY n DESC;
SELECT DATE_TRUNC('month', started) AS m, SUM(fare) AS s, SUM(SUM(fare)) OVER (ORDER BY DATE_TRUNC('month', started))
AS run FROM trips GROUP BY 1 ORDER BY 1;
WITH m AS (SELECT DATE_TRUNC('month', started) AS m, SUM(fare) AS s FROM trips GROUP BY 1) SELECT m, s, s - LAG(s)
OVER (ORDER BY m) AS change FROM m ORDER BY m;
WITH m AS (SELECT DATE_TRUNC('month', started) AS m, COUNT(*) AS n FROM trips GROUP BY 1) SELECT AVG(n) FROM m;
WITH r AS (SELECT kind, full_name, credit, ROW_NUMBER() OVER (PARTITION BY kind ORDER BY credit DESC) AS rn FROM
clients WHERE credit IS NOT NULL AND kind IS NOT NULL) SELECT kind, full_name, credit FROM r WHERE rn = 1;
SELECT c.kind, SUM(t.fare) / COUNT(DISTINCT c.client_id) AS per_client FROM trips t JOIN clients c ON c.client_id =
t.client_id GROUP BY c.kind;
SELECT c.kind, AVG(x.s) AS m FROM clients c JOIN (SELECT client_id, SUM(fare) AS s FROM trips GROUP BY client_id) x ON
x.client_id = c.client_id GROUP BY c.kind;
SELECT EXTRACT(dow FROM started) AS d, COUNT(*) AS n FROM trips GROUP BY 1 ORDER BY n DESC LIMIT 1;
SELECT d.region, SUM(t.fare) AS s FROM trips t JOIN clients c ON t.client_id = c.client_id JOIN depots d ON d.depot_id
= c.depot_id GROUP BY d.region HAVING SUM(t.fare) > 100 ORDER BY s DESC;
WITH per AS (SELECT client_id, MIN(started) AS first FROM trips GROUP BY client_id) SELECT COUNT(*) FROM per WHERE
first >= '2024-06-01';
WITH per AS (SELECT client_id, MIN(started) AS first, MAX(started) AS last FROM trips WHERE client_id IS NOT NULL
GROUP BY client_id) SELECT AVG(DATE_DIFF('day', first, last)) FROM per;
SELECT c.full_name, MAX(t.started) AS last FROM clients c JOIN trips t USING (client_id) GROUP BY c.client_id,
c.full_name ORDER BY last LIMIT 5;
SELECT full_name FROM clients WHERE client_id NOT IN (SELECT client_id FROM trips WHERE client_id IS NOT NULL);
SELECT CASE WHEN fare < 10 THEN 'low' WHEN fare < 50 THEN 'mid' ELSE 'high' END AS band, COUNT(*) AS n FROM trips
GROUP BY 1;
SELECT state, COUNT(*) FILTER (WHERE shared) * 1.0 / COUNT(*) AS r FROM trips GROUP BY state;
SELECT MAX(s) - MIN(s) AS spread FROM (SELECT state, SUM(fare) AS s FROM trips GROUP BY state);
SELECT trip_id FROM trips WHERE fare = (SELECT MAX(fare) FROM trips);
SELECT c.full_name, COUNT(*) AS n FROM trips t JOIN clients c ON c.client_id = t.client_id GROUP BY c.full_name HAVING
COUNT(DISTINCT t.state) >= 2;
SELECT STRFTIME(started, '%Y-%m') AS m, COUNT(*) AS n FROM trips GROUP BY 1 ORDER BY n DESC LIMIT 3;
SELECT COUNT(*) FROM trips t JOIN clients c ON c.client_id = t.client_id WHERE t.started::DATE - c.joined > 30;
SELECT a.kind, a.n, b.s FROM (SELECT kind, COUNT(*) AS n FROM clients GROUP BY kind) a JOIN (SELECT c.kind,
SUM(t.fare) AS s FROM trips t JOIN clients c USING (client_id) GROUP BY c.kind) b ON a.kind = b.kind;
WITH x AS (SELECT client_id, SUM(fare) AS s FROM trips WHERE client_id IS NOT NULL GROUP BY 1), y AS (SELECT AVG(s) AS
a FROM x) SELECT x.client_id, x.s FROM x, y WHERE x.s > y.a;
SELECT COUNT(*) FROM (SELECT client_id FROM trips GROUP BY client_id HAVING COUNT(*) >= 2);
SELECT SUM(CASE WHEN n > 1 THEN 1 ELSE 0 END) * 1.0 / COUNT(*) FROM (SELECT client_id, COUNT(*) AS n FROM trips GROUP
BY client_id);
SELECT SUM(s) FROM (SELECT fare AS s FROM trips ORDER BY fare DESC LIMIT 10);
SELECT started, fare FROM trips WHERE client_id = (SELECT client_id FROM clients WHERE full_name = 'Client 3' ORDER BY
client_id LIMIT 1);
SELECT kind, MEDIAN(credit) AS m FROM clients GROUP BY kind;
SELECT kind, QUANTILE_CONT(credit, 0.9) AS p FROM clients GROUP BY kind;
SELECT c.full_name, t.fare FROM trips t JOIN clients c USING (client_id) ORDER BY t.fare DESC NULLS LAST LIMIT 5;
SELECT MAX(n) FROM (SELECT started::DATE AS d, COUNT(*) AS n FROM trips GROUP BY 1);
SELECT DATE_TRUNC('month', t.started) AS m, COUNT(DISTINCT t.client_id) AS n FROM trips t GROUP BY m ORDER BY m;
SELECT state, SUM(fare) AS s, RANK() OVER (ORDER BY SUM(fare) DESC) AS r FROM trips GROUP BY state;
SELECT t.state, SUM(CASE WHEN c.kind = 'firm' THEN t.fare ELSE 0 END) AS firm, SUM(CASE WHEN c.kind <> 'firm' THEN
t.fare ELSE 0 END) AS other FROM trips t JOIN clients c ON c.client_id = t.client_id GROUP BY t.state;
WITH monthly AS (SELECT DATE_TRUNC('month', started) AS m, SUM(fare) AS s FROM trips GROUP BY 1) SELECT m, s FROM
monthly WHERE s = (SELECT MAX(s) FROM monthly);
WITH monthly AS (SELECT state, SUM(fare) AS s FROM trips WHERE state IS NOT NULL GROUP BY 1) SELECT state, s / (SELECT
SUM(s) FROM monthly) AS share FROM monthly ORDER BY share DESC LIMIT 1;
SELECT (SELECT COUNT(*) FROM trips WHERE state = 'paid') * 100.0 / (SELECT COUNT(*) FROM trips) AS pct;
SELECT full_name, credit FROM clients WHERE kind = 'firm' INTERSECT SELECT full_name, credit FROM clients WHERE credit
> 0;
SELECT client_id FROM trips WHERE state = 'paid' INTERSECT SELECT client_id FROM trips WHERE state = 'open';
SELECT client_id FROM clients EXCEPT SELECT client_id FROM trips;
SELECT ended - started AS d FROM trips WHERE ended IS NOT NULL ORDER BY d DESC LIMIT 3;
SELECT d.region, COUNT(*) AS n FROM depots d JOIN clients c ON c.depot_id = d.depot_id WHERE c.client_id IN (SELECT
t.client_id FROM trips t WHERE t.fare > 50) GROUP BY d.region;
SELECT COALESCE(kind, 'none') AS k, COUNT(*) AS n FROM clients GROUP BY 1 ORDER BY 2 DESC;
SELECT COUNT(DISTINCT client_id) FROM trips WHERE client_id IN (SELECT client_id FROM trips GROUP BY client_id ORDER
BY SUM(fare) DESC LIMIT 3);
SELECT SUM(f) FROM (SELECT client_id, SUM(fare) AS f, COUNT(*) AS n FROM trips WHERE client_id IS NOT NULL GROUP BY
client_id ORDER BY n DESC, client_id LIMIT 5);
SELECT SUM(f), AVG(n), COUNT(*) FROM (SELECT client_id, SUM(fare) AS f, COUNT(*) AS n FROM trips WHERE client_id IS
NOT NULL GROUP BY client_id ORDER BY n DESC, client_id LIMIT 5);
SELECT SUM(f) FROM (SELECT client_id, SUM(fare) AS f, COUNT(*) AS n FROM trips GROUP BY client_id ORDER BY n DESC,
client_id LIMIT 5);
SELECT AVG(fare), COUNT(*) FROM (SELECT * FROM trips ORDER BY started DESC, trip_id LIMIT 10);
SELECT AVG(fare), COUNT(*) FROM (SELECT * FROM trips ORDER BY started DESC, trip_id LIMIT 10) WHERE state = 'paid';
SELECT state, COUNT(*) AS n FROM (SELECT * FROM trips ORDER BY started DESC, trip_id LIMIT 30) GROUP BY state;
SELECT state, COUNT(*) AS n FROM (SELECT * FROM trips WHERE fare > 10 ORDER BY started DESC, trip_id LIMIT 30) WHERE
shared GROUP BY state HAVING COUNT(*) > 2;
SELECT COUNT(*) FROM (SELECT client_id, SUM(fare) AS f, COUNT(*) AS n FROM trips WHERE client_id IS NOT NULL GROUP BY
client_id HAVING SUM(fare) > 100 ORDER BY n DESC, client_id LIMIT 5) WHERE f > 200;
SELECT SUM(fare) FROM trips WHERE client_id IN (SELECT client_id FROM trips GROUP BY client_id ORDER BY COUNT(*) DESC,
client_id LIMIT 4);
SELECT 100.0 * (SELECT SUM(f) FROM (SELECT client_id, SUM(fare) AS f FROM trips WHERE client_id IS NOT NULL GROUP BY
client_id ORDER BY COUNT(*) DESC, client_id LIMIT 5)) / (SELECT SUM(fare) FROM trips) AS pct;
WITH t AS (SELECT client_id, SUM(fare) AS f, COUNT(*) AS n FROM trips WHERE client_id IS NOT NULL GROUP BY client_id)
SELECT 100.0 * (SELECT SUM(f) FROM (SELECT f FROM t ORDER BY n DESC, client_id LIMIT 5)) / (SELECT SUM(f) FROM t) AS
pct;
SELECT MAX(f) - MIN(f) FROM (SELECT client_id, SUM(fare) AS f, COUNT(*) AS n FROM trips WHERE client_id IS NOT NULL
GROUP BY client_id ORDER BY n, client_id LIMIT 5);
SELECT kind, SUM(fare) FROM (SELECT t.fare, c.kind FROM trips t JOIN clients c ON c.client_id = t.client_id ORDER BY
c.joined DESC, t.trip_id LIMIT 20) GROUP BY kind;
SELECT SUM(n) FROM (SELECT c.full_name, COUNT(t.trip_id) AS n FROM clients c LEFT JOIN trips t ON t.client_id =
c.client_id GROUP BY c.client_id, c.full_name ORDER BY MAX(c.joined) DESC, c.client_id LIMIT 6);
SELECT SUM(n) FROM (SELECT c.client_id, COUNT(t.trip_id) AS n, SUM(t.fare) AS f FROM clients c LEFT JOIN trips t ON
t.client_id = c.client_id GROUP BY c.client_id ORDER BY f DESC, c.client_id LIMIT 6);
SELECT AVG(f) FROM (SELECT started::DATE AS d, SUM(fare) AS f FROM trips GROUP BY d ORDER BY COUNT(*) DESC, d LIMIT
5);
SELECT SUM(f) FROM (SELECT state, SUM(fare) AS f FROM trips GROUP BY state ORDER BY COUNT(*) DESC, state LIMIT 2);
SELECT DISTINCT c.full_name FROM clients c JOIN trips t ON t.client_id = c.client_id JOIN trips u ON u.client_id =
c.client_id WHERE t.state = 'paid' AND u.state = 'open';
SELECT DISTINCT d.region FROM depots d JOIN clients c ON c.depot_id = d.depot_id JOIN clients e ON e.depot_id =
d.depot_id WHERE c.kind = 'new' AND e.kind = 'used';
SELECT COUNT(DISTINCT c.client_id) FROM clients c JOIN clients e ON e.depot_id = c.depot_id JOIN trips t ON
t.client_id = e.client_id WHERE t.fare > 40;
SELECT c.full_name, COUNT(*) AS n FROM clients c JOIN clients e ON e.credit = c.credit GROUP BY c.full_name;
SELECT DISTINCT c.full_name, e.kind FROM clients c JOIN clients e ON e.credit = c.credit;
SELECT MAX(c.joined) FROM clients c JOIN clients e ON e.credit = c.credit AND e.kind = 'used';
SELECT DISTINCT c.full_name FROM clients c JOIN clients e ON e.credit = c.credit AND e.joined < c.joined;
SELECT c.kind, COUNT(DISTINCT c.client_id) AS n FROM clients c JOIN clients e ON e.credit = c.credit JOIN trips t ON
t.client_id = e.client_id WHERE t.state = 'paid' GROUP BY c.kind HAVING COUNT(DISTINCT c.client_id) > 1;
SELECT kind, COUNT(*) AS n FROM clients WHERE credit > (SELECT AVG(n) FROM (SELECT depot_id, SUM(credit) AS n FROM
clients GROUP BY depot_id)) GROUP BY kind;
SELECT trip_id FROM trips t WHERE EXISTS (SELECT 1 FROM trips u WHERE u.client_id = t.client_id AND u.state = t.state
AND u.fare > 50);
SELECT COUNT(*) FROM trips t WHERE NOT EXISTS (SELECT 1 FROM trips u WHERE u.client_id = t.client_id AND u.state =
t.state AND u.shared);
SELECT COUNT(*) FROM clients c WHERE EXISTS (SELECT 1 FROM trips t WHERE t.client_id = c.client_id AND t.fare >
c.credit);
SELECT trip_id, fare, f.first FROM trips t JOIN (SELECT client_id, MIN(started) AS first FROM trips GROUP BY
client_id) f ON f.client_id = t.client_id;
SELECT COUNT(*) FROM trips t JOIN (SELECT client_id, MIN(started) AS first FROM trips GROUP BY client_id) f ON
f.client_id = t.client_id WHERE t.started = f.first;
WITH f AS (SELECT client_id, MIN(started) AS first FROM trips WHERE state = 'paid' GROUP BY client_id) SELECT t.state,
COUNT(*) AS n, SUM(t.fare) AS s FROM trips t JOIN f ON f.client_id = t.client_id WHERE t.started > f.first GROUP BY
t.state;
WITH f AS (SELECT client_id, COUNT(*) AS n FROM trips GROUP BY client_id HAVING COUNT(*) > 6) SELECT SUM(t.fare) FROM
trips t JOIN f USING (client_id);
WITH f AS (SELECT client_id, AVG(fare) AS a FROM trips GROUP BY client_id) SELECT COUNT(*) FROM trips t LEFT JOIN f ON
f.client_id = t.client_id WHERE t.fare > f.a;
WITH f AS (SELECT client_id, AVG(fare) AS a FROM trips GROUP BY client_id) SELECT t.trip_id, f.a FROM trips t LEFT
JOIN f ON f.client_id = t.client_id;
WITH f AS (SELECT client_id, COUNT(*) AS n FROM trips GROUP BY client_id) SELECT t.trip_id, f.n FROM trips t LEFT JOIN
f ON f.client_id = t.client_id;
WITH f AS (SELECT client_id, state, MAX(fare) AS m FROM trips GROUP BY client_id, state) SELECT t.trip_id, t.fare /
f.m AS r FROM trips t JOIN f ON f.client_id = t.client_id AND f.state = t.state;
WITH f AS (SELECT client_id, state, MAX(fare) AS m FROM trips GROUP BY client_id, state) SELECT t.trip_id, f.m FROM
trips t JOIN f ON f.client_id = t.client_id;
WITH f AS (SELECT client_id, MIN(started) AS first FROM trips GROUP BY client_id) SELECT CASE WHEN f.first >=
TIMESTAMP '2024-06-01' THEN 'new' ELSE 'old' END AS who, SUM(t.fare) AS s FROM trips t JOIN f ON f.client_id =
t.client_id GROUP BY 1;
WITH f AS (SELECT client_id, MIN(started) AS first FROM trips GROUP BY client_id) SELECT DATE_TRUNC('month', f.first)
AS cohort, COUNT(DISTINCT t.client_id) AS n FROM trips t JOIN f ON f.client_id = t.client_id GROUP BY 1 ORDER BY 1;
WITH f AS (SELECT depot_id, AVG(credit) AS a, COUNT(*) AS n FROM clients WHERE kind = 'new' GROUP BY depot_id) SELECT
c.full_name, c.credit - f.a AS d, f.n FROM clients c JOIN f ON f.depot_id = c.depot_id;
WITH f AS (SELECT depot_id, SUM(credit) / COUNT(*) AS a FROM clients GROUP BY depot_id) SELECT c.full_name, f.a FROM
clients c JOIN f ON f.depot_id = c.depot_id WHERE c.credit < f.a;
WITH f AS (SELECT t.client_id, AVG(t.fare) AS a FROM trips t JOIN clients c ON c.client_id = t.client_id WHERE c.kind
= 'new' GROUP BY t.client_id) SELECT t.trip_id, t.fare - f.a AS d FROM trips t JOIN f ON f.client_id = t.client_id;
WITH f AS (SELECT client_id, MAX(started) AS last FROM trips GROUP BY client_id) SELECT c.kind, COUNT(*) AS n,
AVG(t.fare) AS m FROM trips t JOIN f ON f.client_id = t.client_id AND f.last = t.started JOIN clients c ON c.client_id
= t.client_id GROUP BY c.kind;
WITH f AS (SELECT state, AVG(fare) AS a FROM trips WHERE shared GROUP BY state HAVING COUNT(*) > 3) SELECT t.state,
COUNT(*) FILTER (WHERE t.fare > f.a) AS n, COUNT(*) AS whole FROM trips t JOIN f ON f.state = t.state GROUP BY
t.state;
WITH f AS (SELECT state, MEDIAN(fare) AS a FROM trips GROUP BY state) SELECT COUNT(*) FROM trips t JOIN f ON f.state =
t.state WHERE t.fare > f.a;
SELECT COUNT(*) FROM trips t JOIN (SELECT state, AVG(fare) AS a FROM trips WHERE client_id IN (SELECT client_id FROM
clients WHERE kind = 'new') GROUP BY state) f ON f.state = t.state WHERE t.fare > f.a;
SELECT COUNT(*) FROM trips t JOIN (SELECT state, AVG(fare) AS a FROM trips WHERE fare > (SELECT AVG(fare) FROM trips)
GROUP BY state) f ON f.state = t.state WHERE t.fare > f.a;
SELECT AVG(n) FROM (SELECT client_id, COUNT(*) AS n FROM trips GROUP BY client_id);
SELECT state FROM trips GROUP BY state HAVING SUM(fare) > (SELECT AVG(s) FROM (SELECT state, SUM(fare) AS s FROM trips
GROUP BY state));
SELECT kind FROM clients GROUP BY kind HAVING SUM(credit) < (SELECT AVG(s) FROM (SELECT kind, SUM(credit) AS s FROM
clients GROUP BY kind));
SELECT depot_id, COUNT(*) AS n FROM clients GROUP BY depot_id HAVING COUNT(*) > (SELECT AVG(n) FROM (SELECT depot_id,
COUNT(*) AS n FROM clients WHERE kind = 'used' GROUP BY depot_id));
WITH f AS (SELECT client_id, MAX(started) AS last FROM trips GROUP BY client_id) SELECT c.kind, COUNT(*) AS n,
AVG(t.fare) AS m FROM trips t JOIN f ON f.client_id = t.client_id AND f.last = t.started JOIN clients c ON c.client_id
= t.client_id GROUP BY c.kind;
WITH f AS (SELECT client_id, MAX(started) AS last FROM trips GROUP BY client_id) SELECT t.trip_id, t.state FROM trips
t JOIN f ON f.client_id = t.client_id AND t.started = f.last;
WITH f AS (SELECT kind, MAX(credit) AS c FROM clients GROUP BY kind) SELECT c.full_name, c.kind FROM clients c JOIN f
ON f.kind = c.kind AND c.credit = f.c;
WITH f AS (SELECT client_id, MIN(started) AS first FROM trips GROUP BY client_id) SELECT c.full_name FROM clients c
JOIN f ON f.client_id = c.client_id AND f.first = c.joined;
WITH f AS (SELECT client_id, COUNT(*) AS n FROM trips GROUP BY client_id) SELECT c.full_name, f.n FROM clients c JOIN
f ON f.client_id = c.client_id AND f.n = c.credit;
WITH f AS (SELECT client_id, MAX(started) AS last FROM trips GROUP BY client_id) SELECT t.trip_id FROM trips t LEFT
JOIN f ON f.client_id = t.client_id AND t.started = f.last;
SELECT t.trip_id FROM trips t JOIN (SELECT MAX(started) AS last FROM trips) f ON f.last = t.started;
