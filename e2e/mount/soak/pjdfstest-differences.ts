// SPDX-License-Identifier: MPL-2.0

/** Tests of pjdfstest that fail in a mount and not on the disk below it, each with its reason. */
export const DIFFERENCES: readonly { tests: RegExp; why: string }[] = [
  { tests: /::(fifo|block|char|socket)$/, why: 'makes a device, a socket or a pipe, of which a share has none' },
  {
    tests: /^mk(fifo|nod)::(changed_time_fields_success|permission_bits_from_mode|uid_gid_eq_euid_egid)$/,
    why: 'as above',
  },
  { tests: /^open::(fifo_nonblock_wronly|socket_error)$/, why: 'as above' },
  { tests: /^link::(changed_ctime_success|remove_link|share_metadata)::regular$/, why: 'makes a hard link' },
  { tests: /^rename::(preserve_metadata|to_multiply_linked)::regular$/, why: 'makes a hard link' },
  { tests: /^unlink::(unchanged_ctime_failed|update_ctime_success)::regular$/, why: 'makes a hard link' },
  { tests: /^(mkdir|open)::uid_gid_eq_euid_egid$/, why: 'gives a file to another owner' },
  { tests: /^chmod::clear_isgid_bit$/, why: 'gives a file to another owner' },
  {
    tests: /^ftruncate::affected_create_flags_only$/,
    why: 'acts as a user other than the mounting one, who has no access',
  },
  { tests: /^rename::unchanged_ctime_failed::(dir|regular|symlink)$/, why: 'acts as another user' },
  { tests: /^rename::write_access_required_subdir$/, why: 'acts as another user' },
  { tests: /^chmod::update_ctime::(dir|regular)$/, why: 'a share does not report the status change time' },
  { tests: /^rename::updates_link_parent$/, why: 'a share does not report the number of links' },
  { tests: /^link::link_count_max$/, why: 'skipped: a share has no hard links' },
];
