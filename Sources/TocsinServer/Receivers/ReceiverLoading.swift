import TocsinAPI
package import TocsinCore
package import TocsinReceivers

/// The receivers that are written as data: those that ship, and the operator's own, which stand in
/// place of shipped ones of the same name.
package enum ReceiverLoading {
    private static let shippedFile = "receivers.json"

    /// Reads both; a mistake in the operator's own file stops the start.
    package static func catalog(_ server: Settings.Server, time: any TimeSource = SystemTime())
        throws(StartError) -> ReceiverCatalog
    {
        let folder = ZoneFolder(path: server.zonesPath ?? "", time: time)
        let zones: ZoneLookup = { folder.zone(named: $0) }
        let text = EmbeddedSchema.files.first { $0.name == shippedFile }?.text ?? ""
        let shipped = ReceiverReading(text, file: shippedFile, zones: zones)
        guard let path = server.receiversPath else {
            return ReceiverCatalog(shipped: shipped.receivers, own: [], zones: zones)
        }
        let own: ReceiverReading
        do throws(SystemFile.Failure) {
            own = ReceiverReading(try SystemFile.text(of: path), file: path, zones: zones)
        } catch {
            throw StartError("\(path) cannot be read: \(error.reason). Mend TOCSIN_RECEIVERS or the file.")
        }
        guard own.problems.isEmpty else {
            throw StartError(
                "The receivers cannot be used. Correct them, or take the file out of TOCSIN_RECEIVERS:\n"
                    + own.problems.map { "  - " + $0 }.joined(separator: "\n")
            )
        }
        return ReceiverCatalog(shipped: shipped.receivers, own: own.receivers, zones: zones)
    }
}
