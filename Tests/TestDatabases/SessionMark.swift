package import TocsinCore
package import TocsinPostgres
package import TocsinStore

extension TransactionMark {
    /// The mark of what a session commits next, whose number is not told; nil where the server
    /// does not know the session.
    package static func unnumbered(
        of connection: any SQLConnection,
        proof: TransactionProof
    ) throws(StoreError) -> TransactionMark? {
        let session = """
            SELECT pid::text || ' ' || extract(epoch FROM backend_start)::text,
                substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)
            FROM pg_stat_activity WHERE pid = pg_backend_pid()
            """
        return try connection.first(session) {
            TransactionMark(id: nil, session: $0.text(0), timeline: $0.text(1), proof: proof)
        }
    }
}
