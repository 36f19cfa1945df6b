//! The revision of the protocol that an answer keeps to.

use rmcp::model::{InitializeResult, ProtocolVersion};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, model};

/// The revision of the protocol that an answer keeps to.
pub(super) struct Revision(pub(super) ProtocolVersion);

impl Revision {
    /// Returns the revision that a request names, else the one of the handshake, else the newest.
    pub(super) fn of(context: &RequestContext<RoleServer>) -> Revision {
        Revision(
            context
                .protocol_version()
                .unwrap_or(ProtocolVersion::LATEST),
        )
    }

    pub(super) fn is_stateless(&self) -> bool {
        self.0 >= ProtocolVersion::V_2026_07_28
    }

    /// Structured content, output schemas, titles and `_meta` of tools came with 2025-06-18.
    pub(super) fn has_structure(&self) -> bool {
        self.0 >= ProtocolVersion::V_2025_06_18
    }

    /// Annotations of tools and the capability of completions came with 2025-03-26.
    pub(super) fn has_annotations(&self) -> bool {
        self.0 >= ProtocolVersion::V_2025_03_26
    }

    /// Returns a tool as this revision knows it.
    pub(super) fn tool(&self, mut tool: model::Tool) -> model::Tool {
        if !self.has_structure() {
            tool.title = None;
            tool.output_schema = None;
            tool.meta = None;
        }
        if !self.has_annotations() {
            tool.annotations = None;
        }
        tool
    }

    /// Removes the fields that this revision does not know from a server's description.
    pub(super) fn info(&self, info: &mut InitializeResult) {
        if !self.has_structure() {
            info.server_info.title = None;
        }
        if !self.has_annotations() {
            info.capabilities.completions = None;
        }
    }
}

pub(super) fn is_stateless(context: &RequestContext<RoleServer>) -> bool {
    Revision::of(context).is_stateless()
}
