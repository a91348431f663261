/**
 * The members that the TLVs of the BGP-LS Attribute become, all optional: an absent member is an absent TLV. The
 * keys are those of the API. Each family of TLVs says its own part, beside its rows.
 */
import type { FlexAlgoAttributes } from './tlv-flex-algo.ts';
import type { LinkAttributes } from './tlv-link.ts';
import type { NodeAttributes } from './tlv-node.ts';
import type { PolicyAttributes } from './tlv-policy.ts';
import type { PrefixAttributes } from './tlv-prefix.ts';
import type { SrLinkAttributes, SrNodeAttributes, SrPrefixAttributes } from './tlv-sr.ts';
import type { Srv6Attributes } from './tlv-srv6.ts';
import type { TeAttributes } from './tlv-te.ts';

export interface LinkStateAttributes
  extends NodeAttributes,
    LinkAttributes,
    PrefixAttributes,
    SrNodeAttributes,
    SrLinkAttributes,
    SrPrefixAttributes,
    Srv6Attributes,
    TeAttributes,
    FlexAlgoAttributes,
    PolicyAttributes {}
