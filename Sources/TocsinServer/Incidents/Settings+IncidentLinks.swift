import TocsinCore

extension Settings.Server {
    /// Makes action links; nil where nobody knows the server's public address.
    func incidentLinks(_ sealer: any Sealer) -> IncidentLinks? {
        publicURL.map { IncidentLinks(sealer: sealer, publicURL: $0 + basePath) }
    }
}
