-- The functions of version 1, without what they do: a later version may not give one of these another type.
CREATE FUNCTION add_steps(p_at bigint, p_kind text, p_seqs bigint[], p_attempts int[], p_errors text[]) RETURNS void LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION leased_to(p_owner int, p_low_seq bigint, p_below bigint) RETURNS SETOF bigint LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION free_crashed(p_now bigint, p_seqs bigint[]) RETURNS json LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION sweep(p_endpoint text, p_owner int, p_held bigint[]) RETURNS json LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION show_alive(p_owner int) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION raise_low_seq(p_class int, p_owner int) RETURNS void LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION oldest_ready_age(p_endpoint text) RETURNS bigint LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION beat(p_endpoint text, p_owner int) RETURNS json LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION register_owner(p_endpoint text) RETURNS int LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION unregister_owner(p_owner int) RETURNS void LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION free_own(p_owner int, p_held bigint[]) RETURNS int LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION free_orphans(p_endpoint text, p_from bigint, p_below bigint) RETURNS json LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION settle(
  p_now bigint, p_seqs bigint[], p_tokens int[], p_states text[], p_delays bigint[], p_attempts int[],
  p_repeated boolean[], p_errors text[], p_completing bigint[]
) RETURNS json LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION complete(p_seq bigint, p_token int) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION accept(
  p_now bigint, p_endpoint text, p_owner int, p_token int, p_ids text[], p_types text[], p_states text[], p_leases bigint[],
  p_received_at bigint[], p_reasons text[], p_received text[], p_hashes bytea[], p_starts int[], p_lengths int[],
  p_bodies bytea, p_signal_types text[], p_products text[], OUT seqs bigint[], OUT fates text[]
) LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION commit_batch(
  p_endpoint text, p_owner int, p_token int,
  s_seqs bigint[], s_tokens int[], s_states text[], s_delays bigint[], s_attempts int[], s_repeated boolean[], s_errors text[],
  s_completing bigint[],
  a_ids text[], a_types text[], a_states text[], a_leases bigint[], a_received_at bigint[], a_reasons text[],
  a_received text[], a_hashes bytea[], a_starts int[], a_lengths int[], a_bodies bytea, a_signal_types text[], a_products text[],
  p_limit int, p_lease bigint, p_suspects boolean, p_held bigint[]
) RETURNS TABLE (
  summary json,
  seq bigint, "eventId" text, type text, token int, attempts int, crashes int, "receivedAt" bigint,
  "possiblyRepeated" boolean, replayed boolean, "traceParent" text, body bytea
) LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION replay(
  p_endpoints text[], p_ids text[], p_read_ids text[], p_read_types text[], p_signal_types text[], p_products text[]
) RETURNS text[] LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION discard(p_endpoints text[], p_ids text[]) RETURNS text[] LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION prune(
  p_endpoint text, p_from bigint, p_walk bigint, p_payload_age bigint, p_key_age bigint, p_limit int,
  OUT payloads int, OUT keys int, OUT next_seq bigint
) LANGUAGE plpgsql AS 'BEGIN END';
  CREATE FUNCTION search(
  p_endpoint text, p_state text, p_type text, p_signal_type text, p_product text, p_id text, p_received_before bigint,
  p_before bigint, p_limit int
) RETURNS TABLE (matches boolean, is_last boolean, entry inbox) LANGUAGE plpgsql AS 'BEGIN END';
CREATE FUNCTION add_activity(p_endpoint text, p_sums json) RETURNS void LANGUAGE plpgsql AS 'BEGIN END';

-- What version 1 keeps of events: one that is done, one that a crash gave back, one that waits and one that its owner has.
INSERT INTO inbox_owner (endpoint, beat_at, alive_since, swept_at, low_seq) VALUES ('default', now_ms(), now_ms(), 0, 0);
INSERT INTO inbox (endpoint, type, body_hash, received_at, token, owner, event_id, state, crashes, due_at, queue_at, ready_since)
SELECT 'default', 't', 'h', 5, 1, 1, id, state, crashes, now_ms() + lease, queue_at, queue_at
FROM (VALUES
  ('evt_done', 'done', 0, 0, NULL),
  ('evt_crashed', 'ready', 1, 0, now_ms()),
  ('evt_ready', 'ready', 0, 0, now_ms()),
  ('evt_leased', 'leased', 0, 1e9, NULL)
) AS events(id, state, crashes, lease, queue_at);
INSERT INTO inbox_body SELECT seq, '{"at":5,"headers":{}}', '{}' FROM inbox;
