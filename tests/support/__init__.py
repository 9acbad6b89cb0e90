"""What tests share: scripted upstreams and peers, clients in process, schemas, values, vectors; no test stands here."""
