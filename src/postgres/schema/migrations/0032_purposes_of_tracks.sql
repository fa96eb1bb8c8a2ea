-- What a track is for, in words.
alter table tracks
  add column purpose text;
