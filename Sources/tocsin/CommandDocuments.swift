import TocsinClient

/// The GraphQL documents that this program's own commands send.
///
/// A server that runs trusted documents only knows these by itself.
enum CommandDocuments {
    static var all: [String] {
        Documents.all + [
            AuditSourceOptions.document, DeliveriesCommand.document, ExplainCommand.document,
            RedriveCommand.document, SimulateCommand.document,
        ] + RemoteTokenDesk.documents + TopicCommand.documents + IntegrationCommand.documents
            + [
                IncidentsCommand.document, AckCommand.document, ResolveCommand.document, SnoozeCommand.document,
                NoteCommand.document, WatchCommand.document,
            ] + IncidentReference.documents + IncidentCommand.documents + ScheduleCommand.kind.documents
            + DigestCommand.kind.documents
    }
}
